// Checks of one page, run in it by scripts/browser-check. Returns { faults, figures }: sentences for people, and counts of what was
// checked, so that a page on which nothing could be checked does not look like a good one.
const WIDTH_TOLERANCE = 0.03, CONTRAST_MIN = 4.5, CONTRAST_MIN_LARGE = 3;
const faults = [], figures = { texts: 0, widths: 0, worstWidth: 0, pictures: 0, contrasts: 0, worstContrast: null, unmeasured: 0 };

function isVisible(element) {
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false });
}

function name(element) {
  const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
  return `<${element.localName}${element.id ? "#" + element.id : ""}>${text ? ` “${text}”` : ""}`;
}

// --- Widths that the page's author measured, against the browser's own.

function widthOf(element) {
  if (element.getComputedTextLength) return element.getComputedTextLength();
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().width;
}

function checkWidths() {
  for (const element of document.querySelectorAll("[data-width]")) {
    if (!isVisible(element)) continue;
    const said = Number(element.dataset.width), measured = widthOf(element);
    if (!(said > 0)) { faults.push(`${name(element)}: data-width is ${element.dataset.width}, expected a number above 0`); continue; }
    const off = Math.abs(measured - said) / said;
    figures.widths += 1;
    figures.worstWidth = Math.max(figures.worstWidth, Math.round(off * 10000) / 10000);
    // Half a point is not seen, and is more than 3 % of a single digit.
    if (off > WIDTH_TOLERANCE && Math.abs(measured - said) > 0.5) {
      faults.push(`${name(element)}: ${measured.toFixed(2)} wide in the browser, ${said} by data-width: ${(off * 100).toFixed(1)} % off`);
    }
  }
}

// --- The page's width.

function checkScroll() {
  const root = document.scrollingElement;
  const over = root.scrollWidth - document.documentElement.clientWidth;
  if (over <= 0) return;
  let widest = null;
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg") !== null && element.localName !== "svg") continue;
    const right = element.getBoundingClientRect().right + window.scrollX;
    if (widest === null || right > widest.right) widest = { element, right };
  }
  faults.push(`the page scrolls sideways by ${over} px` + (widest ? `; ${name(widest.element)} reaches furthest` : ""));
}

// --- Names for people who do not see.

function accessibleName(element) {
  const labelled = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
    .map((id) => document.getElementById(id)?.textContent || "").join(" ");
  const title = [...element.children].find((child) => child.localName === "title")?.textContent;
  const label = element.labels?.length ? [...element.labels].map((one) => one.textContent).join(" ") : "";
  const own = ["button", "a", "summary"].includes(element.localName) ? element.textContent : "";
  return [labelled, element.getAttribute("aria-label"), element.getAttribute("alt"), title, label, own, element.getAttribute("title")]
    .find((text) => text && text.trim()) || "";
}

function checkNames() {
  const hidden = (element) => element.closest("[aria-hidden=true]") !== null;
  for (const picture of document.querySelectorAll("svg, img, canvas, [role=img]")) {
    if (!isVisible(picture) || hidden(picture) || picture.parentElement.closest("svg, [role=img]")) continue;
    if (picture.localName === "img" && picture.getAttribute("alt") === "") continue;
    figures.pictures += 1;
    if (!accessibleName(picture)) faults.push(`${name(picture)}: the picture has no accessible name`);
  }
  for (const control of document.querySelectorAll("button, input, select, textarea, a[href], summary")) {
    if (isVisible(control) && !hidden(control) && !accessibleName(control)) faults.push(`${name(control)}: the control has no accessible name`);
  }
  if (!document.documentElement.lang) faults.push("the page names no language: <html lang>");
  if (!document.title.trim()) faults.push("the page has no title");
}

// --- Contrast, of a text's colour with what lies below it.

function colour(text) {
  const parts = /^rgba?\(([^)]+)\)$/.exec(text)?.[1].split(/[\s,/]+/).filter(Boolean).map(Number);
  return parts ? { rgb: parts.slice(0, 3), alpha: parts[3] ?? 1 } : null;
}

function over(top, bottom) {
  return { rgb: top.rgb.map((value, index) => value * top.alpha + bottom.rgb[index] * (1 - top.alpha)), alpha: 1 };
}

function luminance({ rgb }) {
  const [r, g, b] = rgb.map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

// Everything that is painted below the middle of a text, from the top; null for what has no single colour.
function layersBelow(element) {
  const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const layers = [];
  const svg = element.closest("svg");
  if (svg) {
    const shapes = [...svg.querySelectorAll("rect, circle, ellipse, path, polygon, use, image")].filter((shape) => {
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
      if (shape.closest("defs, clipPath, mask, pattern, marker, symbol")) return false;
      const area = shape.getBoundingClientRect();
      return area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
    });
    for (const shape of shapes.reverse()) {
      const style = getComputedStyle(shape);
      if (style.fill === "none") continue;
      const fill = colour(style.fill);
      layers.push(fill && { rgb: fill.rgb, alpha: fill.alpha * Number(style.fillOpacity) * opacityOf(shape, svg) });
    }
  }
  for (let node = svg ? svg : element; node; node = node.parentElement) {
    const style = getComputedStyle(node);
    if (style.backgroundImage !== "none") layers.push(null);
    layers.push(colour(style.backgroundColor));
  }
  layers.push(colour(matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark")
    ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)"));
  return layers;
}

function opacityOf(element, root) {
  let opacity = 1;
  for (let node = element; node && node !== root.parentElement; node = node.parentElement) opacity *= Number(getComputedStyle(node).opacity);
  return opacity;
}

function background(element) {
  const seen = [];
  for (const layer of layersBelow(element)) {
    if (layer === null) return null;
    seen.push(layer);
    if (layer.alpha >= 0.999) break;
  }
  return seen.reverse().reduce((bottom, top) => over(top, bottom));
}

function checkContrast() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const done = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || done.has(element) || element.closest("script, style, title, desc, noscript, template")) continue;
    done.add(element);
    const box = element.getBoundingClientRect();
    if (!isVisible(element) || box.width < 2 || box.height < 2 || element.disabled) continue;
    figures.texts += 1;
    const style = getComputedStyle(element), svg = element.closest("svg");
    const ink = colour(svg ? style.fill : style.color), paper = background(element);
    const filtered = svg && [...ancestors(element)].some((node) => getComputedStyle(node).filter !== "none");
    if (!ink || !paper || filtered) { figures.unmeasured += 1; continue; }
    const alpha = ink.alpha * opacityOf(element, svg ?? document.body) * (svg ? Number(style.fillOpacity) : 1);
    const value = contrast(over({ rgb: ink.rgb, alpha }, paper), paper);
    figures.contrasts += 1;
    figures.worstContrast = Math.min(figures.worstContrast ?? 21, Math.round(value * 100) / 100);
    // WCAG 2 calls a text large from 24 px, or from 18.66 px in bold. What a picture shows has to be read at a glance, however large it is.
    const isLarge = !svg && (parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700));
    if (value < (isLarge ? CONTRAST_MIN_LARGE : CONTRAST_MIN)) faults.push(`${name(element)}: contrast ${value.toFixed(2)} : 1`);
  }
}

function* ancestors(element) {
  for (let node = element; node; node = node.parentElement) yield node;
}

await document.fonts.ready;
checkWidths();
checkScroll();
checkNames();
checkContrast();
return { faults: [...new Set(faults)], figures };
