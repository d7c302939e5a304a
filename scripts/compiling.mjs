import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDir } from './build-lock.mjs'

const projects = ['protocol/dist', 'server/dist', 'sdk/dist', 'cli/dist', 'node_modules/.cache']

/** Exists while the compiler runs, and after it was killed. */
export const compilingFile = (root) => join(buildDir(root), 'compiling')

/**
 * Runs the compiler. It writes in place, and believes the files of a killed run if their sources are what they were before:
 * it then has to build everything again.
 */
export async function compiling(root, compile) {
  const file = compilingFile(root)
  if (existsSync(file)) forgetBuilds(root)
  writeFileSync(file, '')
  try {
    await compile()
  } catch (error) {
    // It wrote everything in spite of type errors.
    if (/\berror TS\d/.test(error.output)) rmSync(file)
    throw error
  }
  rmSync(file)
}

function forgetBuilds(root) {
  for (const folder of projects.map((name) => join(root, name)).filter((path) => existsSync(path))) {
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.tsbuildinfo'))) rmSync(join(folder, name))
  }
}
