(function () {
  "use strict";
  var root = document.documentElement;
  var source = document.getElementById("options").textContent;
  var dark = JSON.parse(source).dark;
  var screenIsDark = window.matchMedia("(prefers-color-scheme: dark)");
  var drawn = [];
  var printing = false;

  root.classList.add("js");

  function isDark() {
    var forced = root.getAttribute("data-theme");
    return !printing && (forced ? forced === "dark" : screenIsDark.matches);
  }

  // A fresh copy each time, in the colours of the page as it is now.
  function options() {
    var swap = isDark();
    return JSON.parse(source, function (key, value) {
      return swap && key === "color" && dark[value] ? dark[value] : value;
    }).charts;
  }

  function amount(value) {
    return typeof value === "number"
      ? value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : String(value);
  }

  var MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

  // Days are named on the first of a month and each week after it; on a narrow page on the first and the middle.
  function dayAxis(axis, narrow) {
    function day(name) { return Number(name.slice(8, 10)); }
    axis.axisLabel.interval = function (place, name) {
      return (narrow ? [1, 15] : [1, 8, 15, 22]).indexOf(day(name)) >= 0;
    };
    axis.axisLabel.formatter = function (name) {
      return day(name) === 1 ? "{month|" + MONTHS[Number(name.slice(5, 7)) - 1] + "}" : String(day(name));
    };
    axis.axisTick = { show: false };
  }

  function styleAxis(axis, look, narrow) {
    axis.axisLabel = { color: look.dim, fontSize: 12, hideOverlap: true };
    if (axis.type === "category" && axis.inverse) {
      axis.axisLabel.width = narrow ? 110 : 180;
      axis.axisLabel.overflow = "truncate";
      axis.axisLabel.color = look.ink;
      axis.axisTick = { show: false };
    }
    if (axis.type === "category" && !axis.inverse && axis.data.length && axis.data[0].length === 10) {
      axis.axisLabel.rich = { month: { color: look.ink, fontWeight: 600, fontSize: 12 } };
      dayAxis(axis, narrow);
    }
    axis.axisLine = { lineStyle: { color: look.line } };
    axis.splitLine = { show: axis.type === "value", lineStyle: { color: look.line } };
  }

  function styleSankey(series, look, narrow) {
    series.label = { color: look.ink, fontSize: narrow ? 11 : 12, width: narrow ? 76 : 150, overflow: "truncate" };
    series.labelLayout = { hideOverlap: true };
    series.right = narrow ? 84 : 150;
    if (printing) { series.lineStyle.color = "source"; }
  }

  function styled(option, box, look) {
    var narrow = box.clientWidth < 480;
    option.backgroundColor = "transparent";
    option.animation = false;
    option.textStyle = { color: look.ink, fontFamily: look.font };
    option.aria = { enabled: true, label: { description: box.getAttribute("data-says") } };
    [option.xAxis, option.yAxis].forEach(function (axis) { if (axis) { styleAxis(axis, look, narrow); } });
    if (option.legend) {
      option.legend.icon = "roundRect";
      if (printing) { option.legend.type = "plain"; option.grid.top = 58; }
      option.legend.itemWidth = option.legend.itemHeight = 10;
      option.legend.textStyle = { color: look.dim };
      option.legend.pageTextStyle = { color: look.dim };
      option.legend.pageIconColor = look.ink;
      option.legend.pageIconInactiveColor = look.line;
    }
    option.tooltip = Object.assign(option.tooltip || {}, {
      backgroundColor: look.card, borderColor: look.line, textStyle: { color: look.ink, fontSize: 12 },
      confine: true, renderMode: "richText", valueFormatter: amount
    });
    option.series.forEach(function (series) {
      if (series.type === "sankey") { styleSankey(series, look, narrow); }
      if (series.type === "bar" && option.yAxis.inverse) {
        series.data.forEach(function (bar) { bar.label.color = look.dim; bar.itemStyle.borderRadius = 2; });
      }
    });
    return option;
  }

  function draw() {
    drawn.forEach(function (chart) { chart.dispose(); });
    var style = getComputedStyle(root);
    function token(name) { return style.getPropertyValue(name).trim(); }
    var look = {
      ink: token("--ink"), line: token("--line"), dim: token("--dim"), card: token("--card"),
      font: getComputedStyle(document.body).fontFamily
    };
    var charts = options();
    drawn = Array.prototype.map.call(document.querySelectorAll("[data-chart]"), function (box) {
      if (!box.hasAttribute("data-says")) { box.setAttribute("data-says", box.getAttribute("aria-label")); }
      var chart = window.echarts.init(box, null, { renderer: "svg" });
      chart.setOption(styled(charts[box.getAttribute("data-chart")], box, look));
      if (printing) { scalable(box); }
      return chart;
    });
    root.setAttribute("data-drawn", String(drawn.length));
  }

  // A drawing that takes the width of the paper, whatever it was drawn at.
  function scalable(box) {
    var drawing = box.querySelector("svg");
    drawing.setAttribute("viewBox", "0 0 " + box.clientWidth + " " + box.clientHeight);
  }

  function print(now) {
    printing = now;
    root.classList.toggle("printing", now);
    draw();
  }

  function element(name, text, className) {
    var made = document.createElement(name);
    made.textContent = text;
    if (className) { made.className = className; }
    return made;
  }

  var about = document.getElementById("about");
  var chosen = null;

  function hide() {
    about.hidden = true;
    if (chosen) { chosen.classList.remove("shown"); }
    chosen = null;
  }

  function tell(cell) {
    hide();
    chosen = cell;
    cell.classList.add("shown");
    var command = "unitcost explain '" + cell.getAttribute("data-figure") + "'";
    var line = element("div", "", "line");
    line.appendChild(element("code", command));
    if (navigator.clipboard) {
      var copy = element("button", "Copy");
      copy.addEventListener("click", function () {
        navigator.clipboard.writeText(command).then(
          function () { copy.textContent = "Copied"; }, function () { copy.textContent = "Select it"; });
      });
      line.appendChild(copy);
    }
    var close = element("button", "×", "close");
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", hide);
    about.replaceChildren(element("p", cell.getAttribute("title")), line, close);
    about.hidden = false;
  }

  document.addEventListener("click", function (event) {
    var cell = event.target.closest("[data-figure]");
    if (cell && cell !== chosen) { tell(cell); } else if (!event.target.closest("#about")) { hide(); }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { hide(); }
    if (event.key === "Enter" && event.target.matches("[data-figure]")) { tell(event.target); }
  });

  var theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", function () {
    root.setAttribute("data-theme", isDark() ? "light" : "dark");
    draw();
  });
  screenIsDark.addEventListener("change", draw);
  var waiting = 0, width = window.innerWidth;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) { return; }
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 120);
  });
  window.addEventListener("beforeprint", function () { print(true); });
  window.addEventListener("afterprint", function () { print(false); });
  draw();
})();
