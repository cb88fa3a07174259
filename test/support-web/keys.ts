import type { Page } from 'playwright-core'

/** Presses two keys that are a command together. The page waits 1.2 seconds for the second one, so both are sent at once. */
export async function pressInTurn({ keyboard }: Page, first: string, second: string): Promise<void> {
  await Promise.all([keyboard.press(first), keyboard.press(second)])
}
