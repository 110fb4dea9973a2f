/* A copy button on every block of code: what a reader would type, without prompts and without what was printed. */
const PROMPT = /^(>>> ?|\.\.\. ?|\$ )/;

function typed(text) {
  const lines = text.trimEnd().split("\n");
  const prompted = lines.filter((line) => PROMPT.test(line));
  return prompted.length ? prompted.map((line) => line.replace(PROMPT, "")).join("\n") : lines.join("\n");
}

document.addEventListener("DOMContentLoaded", () => {
  for (const pre of document.querySelectorAll("div.highlight > pre")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(pre.textContent));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    pre.parentElement.append(button);
  }
});
