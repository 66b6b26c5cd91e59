// Adds a button that copies a text of the page. The text itself is always there to select.
const copyButton = (label, text) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = label;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed to copy";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
  return button;
};
if (navigator.clipboard) {
  for (const block of document.querySelectorAll("figure.code")) {
    const label = block.classList.contains("command") ? "Copy command" : "Copy text";
    block.querySelector("figcaption").append(copyButton(label, () => block.querySelector(".text").textContent));
  }
  for (const name of document.querySelectorAll("footer code")) {
    name.after(copyButton("Copy data", () => document.getElementById(name.textContent).textContent));
  }
}
