#!/usr/bin/env node
// A client runs this at each event of a session: it must neither speak nor fail, whatever is missing. A client names itself.
process.on('uncaughtException', () => process.exit(0))
try {
  const [word = '--help'] = process.argv.slice(2)
  if (word === '--help' || word === '-h')
    console.log(
      'Clients run this as a hook, to record their sessions. waymark setup <client> --hooks sets it up.',
    )
  else require('../dist/waymark-capture.cjs')
} catch {}
