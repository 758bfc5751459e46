export function cut() {
  const unknown: = 1;
}
