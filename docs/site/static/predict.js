// What a reader predicts stays in this browser, and is there again when the page is opened later.
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.predict")) {
    const key = "predict " + location.pathname + " " + form.dataset.question;
    const fields = [...form.elements];
    let known = null;
    try {
      known = localStorage.getItem(key);
    } catch (error) {
      return;  // a browser that stores nothing
    }
    for (const field of fields) {
      if (field.type === "radio") {
        field.checked = field.value === known;
      } else if (known !== null) {
        field.value = known;
      }
      field.addEventListener("change", () => localStorage.setItem(key, field.value));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
  }
});
