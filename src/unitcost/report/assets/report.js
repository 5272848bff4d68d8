(function () {
  "use strict";
  var root = document.documentElement;
  var options = JSON.parse(document.getElementById("options").textContent);
  var drawn = [];
  function isDark() {
    var forced = root.getAttribute("data-theme");
    return forced ? forced === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function draw() {
    drawn.forEach(function (chart) { chart.dispose(); });
    drawn = [];
    var style = getComputedStyle(root);
    var ink = style.getPropertyValue("--ink").trim(), line = style.getPropertyValue("--line").trim();
    var dim = style.getPropertyValue("--dim").trim(), card = style.getPropertyValue("--card").trim();
    document.querySelectorAll("[data-chart]").forEach(function (box) {
      var option = JSON.parse(JSON.stringify(options[box.getAttribute("data-chart")]));
      var narrow = box.clientWidth < 480;
      option.backgroundColor = "transparent";
      option.animation = false;
      option.textStyle = { color: ink };
      [option.xAxis, option.yAxis].forEach(function (axis) {
        if (!axis) { return; }
        axis.axisLabel = Object.assign({ color: dim, hideOverlap: true }, axis.type === "category" && axis.inverse
          ? { width: narrow ? 90 : 170, overflow: "truncate" } : {});
        axis.axisLine = { lineStyle: { color: line } };
        axis.splitLine = { lineStyle: { color: line } };
        axis.nameTextStyle = { color: dim };
      });
      if (option.legend) { option.legend.textStyle = { color: ink }; option.legend.pageTextStyle = { color: dim }; }
      if (option.tooltip) {
        option.tooltip.backgroundColor = card;
        option.tooltip.borderColor = line;
        option.tooltip.textStyle = { color: ink };
        option.tooltip.confine = true;
        option.tooltip.renderMode = "richText";
      }
      option.series.forEach(function (series) {
        if (series.type === "sankey") {
          series.label = { color: ink, fontSize: narrow ? 10 : 12, width: narrow ? 70 : 140, overflow: "truncate" };
          series.right = narrow ? 76 : 150;
        }
      });
      var chart = window.echarts.init(box, isDark() ? "dark" : null, { renderer: "svg" });
      chart.setOption(option);
      drawn.push(chart);
    });
  }
  document.getElementById("theme").addEventListener("click", function () {
    root.setAttribute("data-theme", isDark() ? "light" : "dark");
    draw();
  });
  document.addEventListener("click", function (event) {
    var cell = event.target.closest("[data-figure]");
    if (!cell || !navigator.clipboard) { return; }
    navigator.clipboard.writeText("unitcost explain '" + cell.getAttribute("data-figure") + "'").then(function () {
      cell.classList.add("copied");
      setTimeout(function () { cell.classList.remove("copied"); }, 900);
    }, function () { cell.classList.remove("copied"); });
  });
  window.addEventListener("resize", function () { drawn.forEach(function (chart) { chart.resize(); }); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  root.setAttribute("data-drawn", String(drawn.length));
})();
