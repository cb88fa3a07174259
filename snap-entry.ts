import { hook } from './src/app/hook.ts'
import v8 from 'node:v8'
v8.startupSnapshot.setDeserializeMainFunction(() => { void hook(process.argv.slice(2)) })
