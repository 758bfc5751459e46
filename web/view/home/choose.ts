/** chooseFile opens a file picker; `chosen` is not called if the person cancels. */
export function chooseFile(accept: string, chosen: (file: File) => void): void {
  const picker = document.createElement("input");
  picker.type = "file";
  picker.accept = accept;
  picker.addEventListener("change", () => {
    const [file] = picker.files ?? [];
    if (file) chosen(file);
  });
  picker.click();
}
