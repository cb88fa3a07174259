/** `request_changes` is “Request changes”. */
export function eventWords(event: string): string {
  const text = event.replaceAll(/[_-]+/g, ' ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
