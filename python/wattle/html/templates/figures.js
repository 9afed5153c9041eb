// Draws the figures, in the colours of the style sheet; follows light and dark, and prints in light.
(function () {
  "use strict";
  var root = document.documentElement;
  var source = document.getElementById("figures");
  var figures = source ? JSON.parse(source.textContent) : {};
  var night = window.matchMedia("(prefers-color-scheme: dark)");
  var chosen = null; // "light" or "dark" once the reader has chosen

  function theme() { return chosen || (night.matches ? "dark" : "light"); }

  // A string "--name" anywhere in a figure is replaced by that property of the style sheet.
  function coloured(value, style) {
    if (typeof value === "string") return value.slice(0, 2) === "--" ? style.getPropertyValue(value).trim() : value;
    if (Array.isArray(value)) return value.map(function (v) { return coloured(v, style); });
    if (value && typeof value === "object") {
      var made = {};
      Object.keys(value).forEach(function (key) { made[key] = coloured(value[key], style); });
      return made;
    }
    return value;
  }

  function axis(style, own) {
    return Object.assign({
      gridcolor: style.getPropertyValue("--grid").trim(), linecolor: style.getPropertyValue("--rule").trim(),
      zerolinecolor: style.getPropertyValue("--soft").trim(), zeroline: false, automargin: true, ticks: "", showline: false
    }, own || {}, own && own.title ? { title: Object.assign({ font: { size: 12 }, standoff: 6 }, own.title) } : {});
  }

  // On a narrow screen only every second tick is shown.
  function thinned(axis, width) {
    if (!axis || !axis.tickvals || axis.tickvals.length < 7 || width >= 720) return axis;
    var every = function (v, i) { return i % 2 === 0; };
    return Object.assign({}, axis, { tickvals: axis.tickvals.filter(every), ticktext: axis.ticktext.filter(every) });
  }

  // On a narrow screen long names of bars are cut, so that the bars have space.
  function shortened(figure, width) {
    var own = figure.layout.yaxis, names = figure.data.length ? figure.data[0].y : [];
    var isLong = function (name) { return typeof name === "string" && name.length > 18; };
    if (!own || own.type !== "category" || width >= 720 || !names.some(isLong)) return own;
    var texts = names.map(function (name) { return isLong(name) ? name.slice(0, 16) + "…" : name; });
    return Object.assign({}, own, { tickmode: "array", tickvals: names, ticktext: texts });
  }

  function hasToolbar(figure, width) { return width >= 720 && !(figure.layout.height < 300); }

  // A heat map fills its corner, so the toolbar has a line above it.
  function spaceAbove(figure, width) {
    var isMap = figure.data.some(function (trace) { return trace.type === "heatmap"; });
    return isMap && hasToolbar(figure, width) ? 36 : 12;
  }

  function layout(figure, style, width) {
    var ink = style.getPropertyValue("--ink").trim(), panel = style.getPropertyValue("--panel").trim();
    return Object.assign({
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 8, r: 14, t: spaceAbove(figure, width), b: 8 },
      showlegend: false, hovermode: "closest", hoverdistance: 24, dragmode: width < 720 ? false : "zoom",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: style.getPropertyValue("--soft").trim(), activecolor: ink },
      legend: { orientation: "h", traceorder: "normal", x: 0, y: 1.02, yanchor: "bottom" },
      hoverlabel: { bgcolor: panel, bordercolor: style.getPropertyValue("--rule").trim(), font: { color: ink, size: 12 }, align: "left" }
    }, figure.layout, { xaxis: axis(style, thinned(figure.layout.xaxis, width)), yaxis: axis(style, shortened(figure, width)) });
  }

  // Figures in a closed part of the page are drawn when it is opened. `inside`: only those of this part.
  function draw(inside) {
    var style = getComputedStyle(root);
    Object.keys(figures).forEach(function (id) {
      var place = document.getElementById("plot-" + id);
      if (!place || !place.offsetParent || (inside && !inside.contains(place))) return;
      Plotly.react(place, coloured(figures[id].data, style), coloured(layout(figures[id], style, window.innerWidth), style), {
        responsive: true, displaylogo: false, displayModeBar: hasToolbar(figures[id], window.innerWidth) ? "hover" : false,
        modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
        toImageButtonOptions: { format: "svg", filename: id }
      });
    });
  }

  // The library of figures lies in the page in compressed form.
  function unpack(then) {
    var packed = document.getElementById("plotly");
    if (!packed) return;
    if (!window.DecompressionStream) {
      document.querySelectorAll(".plot").forEach(function (place) {
        place.textContent = "Figures need a browser of 2023 or later.";
      });
      return;
    }
    var bytes = Uint8Array.from(atob(packed.textContent.trim()), function (c) { return c.charCodeAt(0); });
    var plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    new Response(plain).text().then(function (text) {
      var script = document.createElement("script");
      script.textContent = text;
      document.head.appendChild(script);
      then();
    });
  }

  function apply(name) {
    if (root.dataset.theme === name && root.dataset.drawn) return;
    root.dataset.theme = name;
    if (window.Plotly) draw();
    root.dataset.drawn = "yes";
    if (button) button.textContent = name === "dark" ? "Light" : "Dark";
  }

  var button = document.getElementById("theme");
  if (button) button.addEventListener("click", function () {
    chosen = theme() === "dark" ? "light" : "dark";
    apply(chosen);
  });
  document.addEventListener("toggle", function (event) {
    if (window.Plotly && event.target.open) draw(event.target);
  }, true);
  night.addEventListener("change", function () { apply(theme()); });
  window.addEventListener("beforeprint", function () { apply("light"); });
  window.addEventListener("afterprint", function () { apply(theme()); });

  // Marks the section in view in the navigation.
  var links = Array.prototype.slice.call(document.querySelectorAll("nav a"));
  var sections = links.map(function (a) { return document.getElementById(a.getAttribute("href").slice(1)); });
  function mark() {
    var here = 0;
    sections.forEach(function (s, i) { if (s && s.getBoundingClientRect().top < 120) here = i; });
    if (window.innerHeight + window.scrollY >= document.body.scrollHeight - 4) here = sections.length - 1;
    links.forEach(function (a, i) { a.classList.toggle("here", i === here); });
  }
  window.addEventListener("scroll", mark, { passive: true });

  apply(theme());
  mark();
  unpack(function () { draw(); });
})();
