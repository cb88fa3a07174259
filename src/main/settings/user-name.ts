import { userInfo } from 'node:os'

export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'somebody' // a user id that the system has no name for, as in some containers
  }
}
