/* redfish_page.h - a page of a management controller (Redfish, DMTF DSP0266): its watts, or links to further pages. */
#ifndef WTL_POWER_REDFISH_PAGE_H
#define WTL_POWER_REDFISH_PAGE_H

enum { WTL_REDFISH_PATH = 512 };

typedef struct wtl_redfish_page {
  double watts;     /* NaN: the page has none */
  double most_w;    /* the highest watts that the page states as possible (capacity, range); 0: it states none */
  const char *name; /* name of the property with the watts; NULL: none */
  /* Paths of further pages; "": no link. */
  char metrics[WTL_REDFISH_PATH], power[WTL_REDFISH_PATH], member[WTL_REDFISH_PATH];
} wtl_redfish_page;

/* Reads a page, which may have any content. Returns NULL, or the reason why it is no JSON. */
const char *wtl_redfish_page_read(const char *text, wtl_redfish_page *page);

#endif
