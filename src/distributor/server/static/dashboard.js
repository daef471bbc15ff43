// Keeps parts of a page current: each element with data-refresh is fetched again every
// data-seconds and replaced, while the page is visible. Without this script the page
// is complete and current when it is loaded.
"use strict";

for (const part of document.querySelectorAll("[data-refresh]")) {
  const pause = Number(part.dataset.seconds) * 1000;
  let shown = null;

  const refresh = async () => {
    if (document.visibilityState === "visible") {
      try {
        const answer = await fetch(part.dataset.refresh, { redirect: "manual" });
        if (!answer.ok) {
          if (answer.type === "opaqueredirect") location.reload(); // signed out meanwhile
          return;
        }
        const text = await answer.text();
        const busy = part.contains(document.activeElement) && document.activeElement !== document.body;
        if (text !== shown && !busy) {
          part.innerHTML = text;
          shown = text;
        }
        if (part.querySelector("[data-finished]")) return;
      } catch {
        // The server is away for a moment: the next look may find it.
      }
    }
    setTimeout(refresh, pause);
  };

  setTimeout(refresh, pause);
}
