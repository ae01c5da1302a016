// How many texts are in view, and those whose contrast with what is behind them is below 4.5.
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map((c) => c / 255).map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  }
  function ratio(a, b) {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + .05) / (dark + .05);
  }
  const isSvg = (element) => element instanceof SVGElement && !(element instanceof SVGSVGElement);
  // Its opacity, with that of everything around it.
  const opacity = (element) => element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
  // The colours that an element puts behind a text: of a gradient, each one.
  function paints(element) {
    const style = getComputedStyle(element);
    if (isSvg(element)) {
      if (element.tagName !== "rect" || style.fill === "none") return [];
      const [r, g, b, a] = rgba(style.fill);
      return [[r, g, b, a * Number(style.fillOpacity) * opacity(element)]];
    }
    const stops = [...style.backgroundImage.matchAll(/(?:rgba?|color)\([^()]*\)/g)].map(([stop]) => rgba(stop));
    const plain = rgba(style.backgroundColor);
    return stops.length ? stops.map((stop) => stop[3] < 1 ? over(stop, plain[3] ? plain : rgba(getComputedStyle(document.body).backgroundColor)) : stop) : [plain];
  }
  // Every colour that may be behind a point, from the top down until one is opaque.
  function behind(stack) {
    const results = [];
    const paper = rgba(getComputedStyle(document.body).backgroundColor);
    const flat = (list) => list.reduceRight((below, above) => over(above, below), paper);
    let open = [[]];
    for (const element of stack) {
      const colours = paints(element).filter((colour) => colour[3] > 0);
      if (!colours.length) continue;
      open = open.flatMap((above) => colours.map((colour) => [...above, colour]));
      results.push(...open.filter((list) => list[list.length - 1][3] >= 1).map(flat));
      open = open.filter((list) => list[list.length - 1][3] < 1);
      if (!open.length) break;
    }
    return [...results, ...open.map(flat)];
  }
  const faint = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, element = text.parentElement;
    if (!text.data.trim() || element.closest("script, style, option, title, dialog:not([open]), [hidden], :disabled")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of [...range.getClientRects()].slice(0, 1)) {
      const [x, y] = [box.x + Math.min(3, box.width / 2), box.y + box.height / 2];
      const stack = document.elementsFromPoint(x, y);
      const at = stack.indexOf(element);
      // What is scrolled out of view, or covered, is not read; texts of a picture hide nothing.
      if (box.width === 0 || at < 0 || stack.slice(0, at).some((above) => !isSvg(above) && !element.contains(above))) continue;
      looked++;
      const style = getComputedStyle(element);
      const [r, g, b, a] = rgba(isSvg(element) ? style.fill : style.color);
      const ink = [r, g, b, a * opacity(element)];
      for (const ground of behind(stack.slice(at))) {
        const found = ratio(over(ink, ground), ground);
        if (found < 4.5) faint.push(`${found.toFixed(2)}: ${text.data.trim().slice(0, 40)} (${element.tagName}.${element.className.baseVal ?? element.className}, ${ground.map(Math.round)})`);
      }
    }
  }
  for (const input of document.querySelectorAll("input[placeholder]")) {
    const style = getComputedStyle(input, "::placeholder"), ground = rgba(getComputedStyle(input).backgroundColor);
    const [r, g, b, a] = rgba(style.color);
    const found = ratio(over([r, g, b, a * Number(style.opacity)], ground), ground);
    if (found < 4.5) faint.push(`${found.toFixed(2)}: placeholder ${input.placeholder}`);
  }
  return [looked, ...new Set(faint)];
})()
