// What is wrong with what is seen: parts outside the window, texts over each other, things that
// scroll, letters that are too small.
(least) => {
  const found = [];
  // What is said to screen readers alone is a pixel large.
  const tiny = (e) => e && !e.closest("svg") && ((e.offsetWidth <= 1 && e.offsetHeight <= 1 &&
    getComputedStyle(e).overflow === "hidden") || tiny(e.parentElement));
  const seen = (e) =>
    e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !tiny(e);
  const said = (e) => (e.textContent || e.className.toString()).trim().slice(0, 40);
  const close = 1; // pixels, of rounding
  const texts = [];
  const add = (text, box, letters) => {
    if (box.width < 1 || box.height < 1) return;
    // Of a line only what letters fill: boxes of lines are higher, and may meet.
    const spare = Math.max(0, (box.height - 0.9 * letters) / 2);
    texts.push({ text, left: box.left + close, right: box.right - close,
      top: box.top + spare, bottom: box.bottom - spare });
    if (box.left < -close || box.top < -close || box.right > innerWidth + close ||
        box.bottom > innerHeight + close) found.push(`outside: ${text}`);
  };
  for (const element of document.querySelectorAll("body *")) {
    if (!seen(element)) continue;
    const style = getComputedStyle(element);
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
    if (clips && element.clientHeight && !element.closest("svg") &&
        (element.scrollHeight > element.clientHeight + close ||
         element.scrollWidth > element.clientWidth + close)) {
      found.push(`scrolls or is cut: ${element.tagName} ${said(element)}`);
    }
    const letters = parseFloat(style.fontSize);
    if (element.tagName === "text") {
      if (!element.textContent.trim()) continue;
      add(element.textContent, element.getBoundingClientRect(), letters);
      if (letters < least) found.push(`${letters} pixels: ${element.textContent}`);
    } else if (!element.closest("svg")) {
      const words = [...element.childNodes].filter((one) => one.nodeType === 3 && one.data.trim());
      if (words.length && letters < least) {
        found.push(`${letters} pixels: ${said(element)}`);
      }
      for (const node of words) {
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) add(node.data.trim().slice(0, 40), box, letters);
      }
    }
  }
  for (const part of [document.documentElement, document.body]) {
    if (part.scrollHeight > part.clientHeight + close || part.scrollWidth > part.clientWidth + close) {
      found.push(`the window scrolls: ${part.tagName}`);
    }
  }
  texts.forEach((one, place) => texts.slice(place + 1).forEach((other) => {
    if (one.left < other.right && other.left < one.right &&
        one.top < other.bottom && other.top < one.bottom) {
      found.push(`over each other: ${one.text} | ${other.text}`);
    }
  }));
  return { found, texts: texts.length };
}
