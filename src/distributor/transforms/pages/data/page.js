(() => {
  "use strict";
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  // Contents: open where they stand beside the text, folded where they stand above it.
  const contents = document.querySelector(".contents > details");
  if (contents) {
    const beside = window.matchMedia("(min-width: 72rem)");
    const fold = () => { contents.open = beside.matches; };
    fold();
    beside.addEventListener("change", fold);
    contents.addEventListener("click", (event) => {
      if (event.target.closest("a") && !beside.matches) contents.open = false;
    });
    const links = new Map(all(".contents a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    const seen = new Set();
    const headings = all(".heading > *[id]").filter((heading) => links.has(heading.id));
    const mark = () => {
      const current = headings.filter((heading) => seen.has(heading)).shift();
      if (!current) return;
      links.forEach((link) => link.removeAttribute("aria-current"));
      const link = links.get(current.id);
      link.setAttribute("aria-current", "true");
      if (beside.matches) link.scrollIntoView({ block: "nearest" });
    };
    const observer = new IntersectionObserver((entries) => {
      entries.forEach((entry) => entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target));
      mark();
    }, { rootMargin: "0px 0px -60% 0px" });
    headings.forEach((heading) => observer.observe(heading));
  }

  // Only what scrolls is a stop for the keyboard.
  const scrollers = all("main [tabindex='0']");
  const measure = () => scrollers.forEach((box) => {
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls) box.tabIndex = 0; else box.removeAttribute("tabindex");
  });
  measure();
  window.addEventListener("resize", measure);

  // Code that can be copied, also where the clipboard is closed to pages without TLS.
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) {
      try { await navigator.clipboard.writeText(text); return true; } catch { /* tried the other way below */ }
    }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "offscreen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  all(".code").forEach((block) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block.querySelector("code").textContent)) ? "Copied" : "Select and copy";
      button.focus();
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    button.setAttribute("aria-live", "polite");
    block.append(button);
  });
})();
