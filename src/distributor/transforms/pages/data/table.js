(() => {
  "use strict";
  const table = document.querySelector(".data table");
  const body = table.tBodies[0];
  const tools = document.querySelector(".table-tools");
  const count = tools.querySelector(".count");
  const heads = Array.from(table.tHead.rows[0].cells);
  const PAGE = 100;
  const numbers = new Intl.NumberFormat("en");
  document.body.classList.add("scripted");

  const block = document.querySelector("script.rows");
  const rows = Array.from(body.rows, (row) => Array.from(row.cells, (cell) => cell.textContent))
    .concat(block ? JSON.parse(block.textContent) : [])
    .map((cells, position) => ({ cells, position }));
  if (block) block.remove();

  const plain = (text) => text.replace(/[\s%€$£¥]/g, "").replace("−", "-");
  const value = {
    text: (text) => text,
    date: (text) => text.trim(),
    number: (text) => { const bare = plain(text).replace(/,/g, ""); return bare === "" ? NaN : Number(bare); },
    comma_number: (text) => {
      const bare = plain(text).replace(/\./g, "").replace(",", ".");
      return bare === "" ? NaN : Number(bare);
    },
  };
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let shown = rows;
  let page = 0;
  let sorting = null;

  const cell = (text, index) => {
    const element = document.createElement("td");
    element.textContent = text === undefined ? "" : text;
    if (heads[index].classList.contains("n")) element.className = "n";
    return element;
  };
  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(page, pages - 1);
    body.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
      const line = document.createElement("tr");
      line.append(...heads.map((_, index) => cell(row.cells[index], index)));
      return line;
    }));
    const all = `${numbers.format(rows.length)} row${rows.length === 1 ? "" : "s"}`;
    count.textContent = shown.length === rows.length ? all : `${numbers.format(shown.length)} of ${all}`;
    pager.hidden = pages < 2;
    where.textContent = `Page ${numbers.format(page + 1)} of ${numbers.format(pages)}`;
    back.disabled = page === 0;
    on.disabled = page >= pages - 1;
  };
  const arrange = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = words.length === 0 ? rows.slice() : rows.filter((row) => {
      const text = row.cells.join("\u0000").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (sorting) {
      const { index, down } = sorting;
      const read = value[heads[index].dataset.kind];
      const keyed = shown.map((row) => [read(row.cells[index] || ""), row]);
      const textual = heads[index].dataset.kind === "text";
      keyed.sort(([one, left], [other, right]) => {
        const lost = Number(one === "" || one !== one) - Number(other === "" || other !== other);
        if (lost !== 0) return lost;
        const order = textual ? collator.compare(one, other) : (one > other) - (one < other);
        return (down ? -order : order) || left.position - right.position;
      });
      shown = keyed.map(([, row]) => row);
    }
    page = 0;
    draw();
  };

  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Filter rows";
  search.setAttribute("aria-label", "Filter rows");
  let timer;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(arrange, 120); });
  tools.prepend(search);

  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const down = sorting && sorting.index === index ? !sorting.down : false;
      sorting = { index, down };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      arrange();
    });
    head.replaceChildren(button);
  });

  const pager = document.createElement("nav");
  pager.className = "pager";
  pager.setAttribute("aria-label", "Pages of the table");
  const turn = (label, step) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => {
      page += step;
      draw();
      document.querySelector(".data").scrollTop = 0;
    });
    return button;
  };
  const back = turn("Previous", -1);
  const on = turn("Next", 1);
  const where = document.createElement("span");
  where.setAttribute("role", "status");
  pager.append(back, where, on);
  document.querySelector(".data").after(pager);

  // Paper shows every row that a page may hold, not only the visible part.
  window.addEventListener("beforeprint", () => {
    const part = document.createDocumentFragment();
    shown.slice(0, 5000).forEach((row) => {
      const line = document.createElement("tr");
      line.append(...heads.map((_, index) => cell(row.cells[index], index)));
      part.append(line);
    });
    body.replaceChildren(part);
  });
  window.addEventListener("afterprint", draw);
  draw();
})();
