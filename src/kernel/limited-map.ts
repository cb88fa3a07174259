/** Sets an entry as the newest of a map; over `max` entries, the oldest goes. */
export function setNewest<Key, Value>(map: Map<Key, Value>, max: number, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
