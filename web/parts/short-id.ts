/** The first letters of an id, enough to recognise it; commands take such a prefix too. */
export function shortId(id: string): string {
  const [run] = /^run-[0-9a-f]{8}/.exec(id) ?? []
  if (run !== undefined) return run
  return /^[a-z]{1,2}-[a-z0-9]{8,}$/.test(id) ? id.slice(0, id.indexOf('-') + 5) : id
}
