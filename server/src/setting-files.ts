import { closeSync, openSync, readSync, statSync } from 'node:fs'

type Env = Record<string, string | undefined>

/** Settings that are secrets: `NAME_FILE` names a file that has the value, so that the environment does not. */
const inFiles = [
  'DATABASE_URL',
  'BATON_SECRET_KEY',
  'BATON_SECRET_KEY_PREVIOUS',
  'BATON_MODEL_KEY',
  'BATON_SMTP_PASSWORD',
  'BATON_S3_SECRET',
]
const maxBytes = 65_536

/** Its message does not have the path: a secret is easily set by mistake in its place. */
export class SettingFileProblem extends Error {}

/** The value of a setting and the variable that it comes from. Files are read as they are, variables without spaces around. */
export function settingOf(env: Env, name: string): { text: string; variable: string } | undefined {
  const text = env[name]?.trim()
  const variable = `${name}_FILE`
  const path = inFiles.includes(name) ? env[variable]?.trim() : undefined
  if (!path) return text ? { text, variable: name } : undefined
  if (text) throw new SettingFileProblem(`${name} and ${variable} are both set; unset one of them`)
  return { text: fileText(variable, path), variable }
}

/** One line for each file with a secret that users other than its owner can read. */
export const readableFiles = (env: Env): string[] =>
  inFiles
    .map((name) => `${name}_FILE`)
    .filter((variable) => {
      const path = env[variable]?.trim()
      return path && statSync(path).mode & 0o044
    })
    .map((variable) => `the file of ${variable} can be read by its group or by others; set its mode to 0400`)

function fileText(variable: string, path: string): string {
  const bytes = readStart(variable, path)
  if (bytes.length > maxBytes) throw new SettingFileProblem(`${variable} names a file of more than 64 KB`)
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (!text.trim()) throw new SettingFileProblem(`${variable} names an empty file`)
  return text
}

/** One byte more than is allowed, if the file has as many. */
function readStart(variable: string, path: string): Buffer {
  try {
    if (!statSync(path).isFile()) throw new SettingFileProblem(`${variable} does not name a regular file`)
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(maxBytes + 1)
      let length = 0
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        read = readSync(file, bytes, length, bytes.length - length, null)
      }
      return bytes.subarray(0, length)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof SettingFileProblem) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new SettingFileProblem(
      code === 'ENOENT'
        ? `${variable} names a file that does not exist`
        : `${variable} names a file that cannot be read (${code})`,
    )
  }
}
