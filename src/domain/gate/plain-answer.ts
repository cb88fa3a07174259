/** The event that a plain yes or no means; null when the process has no word for it. */
export function eventFor(verdict: 'approve' | 'reject', events: readonly string[]): string | null {
  return words[verdict].find((word) => events.includes(word)) ?? null
}

const words = {
  approve: ['approve', 'accept', 'confirm', 'sign_off'],
  reject: ['reject', 'send_back', 'request_changes', 'decline', 'deny'],
} as const
