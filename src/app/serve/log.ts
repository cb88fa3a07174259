import { pino } from 'pino'
import { printableJson, withoutControlCodes } from '../../surfaces/cli/terminal.ts'
import type { Logger } from '../../surfaces/http/serving.ts'
import type { LogLevel } from '../settings/flags.ts'
import { errorSummary } from '../unexpected-errors.ts'

/** Writes to standard error: a line for people on a terminal, JSON elsewhere. */
export function openLog(level: LogLevel, stderr: NodeJS.WriteStream = process.stderr): Logger {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void stderr.write(stderr.isTTY ? formatLogLine(line) : printableJson(line)) },
  )
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  }
}

/** A terminal shows what went wrong; the stack is kept in the error log. */
function withoutStack(value: string): string {
  return value.includes('\n    at ') ? errorSummary(value) : value
}

/** `12:01:07 warn The live feed ended. project=shop`. */
export function formatLogLine(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown> // pino wrote it
  const rest = Object.entries(fields).map(([name, value]) => {
    return ` ${name}=${typeof value === 'string' ? withoutStack(value) : JSON.stringify(value)}`
  })
  const text = `${String(time).slice(11, 19)} ${String(level)} ${String(msg)}${rest.join('')}`
  // A line break in a value must not begin a line that looks like one of ours.
  return `${withoutControlCodes(text).replace(/\n/g, '\\n')}\n`
}
