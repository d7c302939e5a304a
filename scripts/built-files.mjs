import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The compiler leaves the names of source files, which are not packed, in declarations. */
export function importBuiltFiles(folder) {
  for (const name of readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(folder, name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/(from |import\()(["']\.[^"']*)\.ts(["'])/g, '$1$2.js$3'))
  }
}
