/* A copy button on every block of code: what a reader would type, without prompts and without what was printed. */
const PROMPT = /^(>>> ?|\.\.\. ?|\$ )/;

function typed(text) {
  const lines = text.trimEnd().split("\n");
  const input = lines.filter((line, i) => PROMPT.test(line) || (i > 0 && lines[i - 1].endsWith("\\")));
  return (lines.some((line) => PROMPT.test(line)) ? input : lines).map((line) => line.replace(PROMPT, "")).join("\n");
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
