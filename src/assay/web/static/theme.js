// Sets the theme that was chosen before, before anything is painted. Not a module: those wait for the page.

const theme = (() => {
  try {
    return localStorage.getItem("assay-theme");
  } catch {
    return null; // storage is turned off
  }
})();
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
