// Ends a wait for an answer that lasts too long: whoever waits reads a zero instead.
import { writeSync } from 'node:fs'
import { workerData as waiting } from 'node:worker_threads'

const limit = 100_000
const never = new Int32Array(new SharedArrayBuffer(4))

let seen = 0
let since = 0
for (;;) {
  Atomics.wait(never, 0, 0, 1_000)
  const count = Atomics.load(waiting, 0)
  if (count !== seen) {
    seen = count
    since = performance.now()
  } else if (count % 2 === 1 && performance.now() - since > limit) {
    writeSync(waiting[1], '\0')
    since = performance.now()
  }
}
