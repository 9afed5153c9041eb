// Draws the flame graph of a run's call paths: one box for each frame, for the pointer and for the keyboard.
(function () {
  "use strict";
  var weights = JSON.parse(document.getElementById("flame-data").textContent);
  var figure = document.getElementById("flame"), board = figure.querySelector(".frames");
  var told = figure.querySelector(".told"), choice = figure.querySelector("select");
  var frames = [], boxes = [], chosen = 0, widened = 0;

  function words(i) { return frames[i].name + ": " + frames[i].amount; }

  function tell(i) { told.textContent = words(i); }

  // The frame that the keyboard reaches is the only stop of the Tab key.
  function choose(i, focus) {
    boxes[chosen].tabIndex = -1;
    boxes[i].tabIndex = 0;
    chosen = i;
    if (focus) boxes[i].focus();
  }

  // A frame is as wide as the figure, with its callers above it. Frames beside it are hidden.
  function widen(i) {
    var from = frames[i].start, end = from + frames[i].width, rows = 0;
    widened = i;
    board.style.setProperty("--from", from);
    board.style.setProperty("--span", frames[i].width);
    frames.forEach(function (f, k) {
      boxes[k].hidden = f.start + f.width <= from + 1e-7 || f.start >= end - 1e-7;
      if (!boxes[k].hidden) rows = Math.max(rows, f.row + 1);
    });
    board.style.height = rows * 20 + "px";
  }

  function build(weight) {
    board.textContent = "";
    frames = [];
    boxes = weight.frames.map(function (entry, i) {
      var parent = frames[entry[0]];
      var f = { parent: entry[0], name: entry[1], start: entry[3], width: entry[4], amount: entry[5], row: parent ? parent.row + 1 : 0, below: [] };
      var box = document.createElement("div");
      frames.push(f);
      if (parent) parent.below.push(i);
      box.className = entry[2];
      box.textContent = f.name;
      box.title = words(i);
      box.tabIndex = -1;
      box.setAttribute("role", "treeitem");
      box.setAttribute("aria-level", f.row + 1);
      box.setAttribute("aria-label", words(i));
      box.style.setProperty("--row", f.row);
      box.style.setProperty("--x", f.start);
      box.style.setProperty("--w", f.width);
      box.dataset.frame = i;
      board.appendChild(box);
      return box;
    });
    figure.querySelector(".note").textContent = weight.note;
    chosen = 0;
    choose(0, false);
    widen(0);
    tell(0);
  }

  function at(event) {
    var box = event.target.closest("[data-frame]");
    return box ? Number(box.dataset.frame) : -1;
  }

  // The frame that an arrow key leads to, or -1.
  function next(i, key) {
    var f = frames[i], beside = f.parent < 0 ? [i] : frames[f.parent].below, k = beside.indexOf(i);
    var to = { ArrowUp: f.parent, ArrowDown: f.below[0], ArrowLeft: beside[k - 1], ArrowRight: beside[k + 1], Home: 0 }[key];
    return to === undefined ? -1 : to;
  }

  board.addEventListener("keydown", function (event) {
    var i = at(event), to = next(i, event.key);
    if (i < 0) return;
    if (event.key === "Enter" || event.key === " ") widen(i);
    else if (event.key === "Escape") widen(0);
    else if (to >= 0) {
      if (boxes[to].hidden) widen(frames[to].parent < 0 ? 0 : frames[to].parent);
      choose(to, true);
    } else return;
    event.preventDefault();
  });
  board.addEventListener("click", function (event) {
    var i = at(event);
    if (i < 0) return;
    widen(i === widened ? 0 : i);
    choose(i, true);
  });
  board.addEventListener("mouseover", function (event) { if (at(event) >= 0) tell(at(event)); });
  board.addEventListener("mouseleave", function () { tell(chosen); });
  board.addEventListener("focusin", function (event) { if (at(event) >= 0) tell(at(event)); });
  choice.addEventListener("change", function () { build(weights[choice.selectedIndex]); });
  build(weights[choice.selectedIndex]);
})();
