/*
 * job_folder.h - gives each job a folder of its own for its profiles: the jobs of a script share WATTLE_PROFILE_DIR.
 *
 * DESIGN. The first job writes into the folder itself, and further ones into job-2, job-3 and so on inside it. One
 * process of a job takes the folder and shares its number with the others, so all agree on it without a common name
 * of the job, which not every launcher gives.
 *
 * A folder is taken while it holds the link .job, or the profile of process 0, which ends with the removal of .job. The
 * link names the process that took it: of a program with OpenSHMEM and MPI, both front ends get the same folder. A link
 * is made as a whole, and needs no space on a full disk.
 */
#ifndef WTL_RECORD_JOB_FOLDER_H
#define WTL_RECORD_JOB_FOLDER_H

#include "base/settings.h"

/* Takes a folder for this job. Returns its number; 1 also if none can be written to, which the profile reports. */
int wtl_record_take_folder(const char *dir);

/* Lets the settings of this process name the folder with this number. */
void wtl_record_use_folder(wtl_settings *settings, int number);

/* Removes .job from the folder of a job whose process 0 has written its profile. */
void wtl_record_folder_is_written(const char *dir);

#endif
