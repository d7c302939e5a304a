import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { root } from './setup.mjs'
import { isAlive, SmallCheckout, until } from './small-checkout.mjs'

const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  checkout: async ({}, use) => {
    const checkout = new SmallCheckout()
    await use(checkout)
    checkout.remove()
  },
})

const done = (output) => ({ result: 0, output })
const built = expect.stringMatching(/^▸ Building … [\d.]+ s\n$/)

/** A script that builds and waits for the file `go`. */
async function held(checkout) {
  const before = checkout.begun().length
  const script = checkout.start()
  await until(() => checkout.begun().length > before)
  return { ...script, program: checkout.begun().at(-1) }
}

describe('builds in one checkout', () => {
  test('that start at once build once, and name the process that they wait for', async ({ checkout }) => {
    const first = await held(checkout)
    const others = [checkout.start(), checkout.start()]
    const waiting = `Waiting for another build in this checkout (process ${first.pid})\n`
    await until(() => others.every(({ output }) => output === waiting))
    checkout.write('go', '')
    expect(await first.ended).toEqual(done(built))
    for (const { ended } of others) expect(await ended).toEqual(done(waiting))
    expect(checkout.begun()).toHaveLength(1)
    expect(checkout.read('out/rest')).toBe('first')
  })

  test('replace the result only when it is complete', async ({ checkout }) => {
    checkout.write('go', '')
    await checkout.start().ended
    renameSync(checkout.path('go'), checkout.path('stop'))
    checkout.write('src/text', 'second')
    const second = await held(checkout)
    expect([checkout.read('out/half'), checkout.read('out.new/half')]).toEqual(['first', 'second'])
    checkout.write('go', '')
    await second.ended
    expect([checkout.read('out/half'), checkout.read('out/rest')]).toEqual(['second', 'second'])
    expect(readdirSync(checkout.dir).filter((name) => name.startsWith('out'))).toEqual(['out'])
  })

  test('end the program that a killed one left, and build anew', async ({ checkout }) => {
    const killed = await held(checkout)
    killed.kill('SIGKILL')
    await until(() => !isAlive(killed.pid))
    expect(isAlive(killed.program)).toBe(true)
    const next = [checkout.start(), checkout.start()]
    await until(() => checkout.begun().length === 2)
    expect(isAlive(killed.program)).toBe(false)
    expect(checkout.exists('out')).toBe(false)
    checkout.write('go', '')
    for (const { ended } of next) expect((await ended).result).toBe(0)
    expect(checkout.begun()).toHaveLength(2)
    expect(checkout.read('out/rest')).toBe('first')
  })

  test.for(['SIGTERM', 'SIGINT', 'SIGHUP'])('end with their programs at %s', async (signal, { checkout }) => {
    const building = await held(checkout)
    const waiting = checkout.start()
    await until(() => waiting.output.includes('Waiting'))
    waiting.kill(signal)
    expect((await waiting.ended).result).toBe(signal)
    expect(isAlive(building.program)).toBe(true)
    building.kill(signal)
    expect(await building.ended).toEqual({ result: signal, output: '▸ Building … stopped\n' })
    expect(isAlive(building.program)).toBe(false)
    expect(readdirSync(checkout.dir).filter((name) => name.startsWith('out'))).toEqual([])
    checkout.write('go', '')
    expect(await checkout.start().ended).toEqual(done(built))
  })

  test('are current after the checkout was moved', async ({ checkout }) => {
    checkout.write('go', '')
    await checkout.start().ended
    renameSync(checkout.dir, `${checkout.dir}-moved`)
    checkout.dir = `${checkout.dir}-moved`
    expect(await checkout.start().ended).toEqual(done(''))
  })

  test('write nothing in a read-only checkout, and say so if they have to', async ({ checkout }) => {
    checkout.write('go', '')
    await checkout.start().ended
    const unprivileged = process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    chmodSync(checkout.dir, 0o555)
    chmodSync(checkout.path('.build'), 0o555)
    expect(await checkout.start('build.mjs', unprivileged).ended).toEqual(done(''))
    checkout.write('src/text', 'second')
    const refused = await checkout.start('build.mjs', unprivileged).ended
    expect(refused).toEqual({
      result: 1,
      output: `Baton has to install or build, but ${checkout.dir} cannot be written (EACCES). Run npm start there once with write access; the build is then used as it is\n`,
    })
    for (const name of ['.', '.build']) chmodSync(checkout.path(name), 0o755)
  })

  test('never run at the same time, however they end', async ({ checkout }) => {
    checkout.write(
      'turns.mjs',
      `import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
      import { withBuildLock } from './scripts/build-lock.mjs'
      import { isRunning, identityOf } from './scripts/processes.mjs'
      import { root } from './scripts/setup.mjs'
      for (let turn = 0; turn < 5; turn++) await withBuildLock(root, async () => {
        const other = existsSync('inside') ? readFileSync('inside', 'utf8') : ''
        if (other && isRunning(other)) throw new Error('two at once')
        writeFileSync('inside', identityOf(process.pid))
        await new Promise(setImmediate)
        if (readFileSync('inside', 'utf8') !== identityOf(process.pid)) throw new Error('two at once')
        if (turn === 4) process.kill(process.pid, 'SIGKILL')
        rmSync('inside')
      })`,
    )
    const all = Array.from({ length: 6 }, () => checkout.start('turns.mjs'))
    for (const { ended } of all) expect((await ended).result).toBe('SIGKILL')
  })
})

test('an installation that was killed is repeated, even for the lockfile of the one before', async ({ checkout }) => {
  checkout.write('install.mjs', `import { install, main } from './scripts/setup.mjs'\nawait main(install)`)
  const npm = (path) => `#!/usr/bin/env node\nprocess.argv[2] = ${JSON.stringify(checkout.dir)}
    process.argv[3] = ${JSON.stringify(path)}\nprocess.argv[4] = 'x'\nawait import(${JSON.stringify(checkout.path('program.mjs'))})`
  checkout.write('package.json', '{"type":"module"}')
  checkout.write('bin/npm', npm(checkout.path('node_modules')))
  chmodSync(checkout.path('bin/npm'), 0o755)
  checkout.write('go', '')
  expect((await checkout.start('install.mjs').ended).result).toBe(0)
  expect(await checkout.start('install.mjs').ended).toEqual(done(''))

  renameSync(checkout.path('go'), checkout.path('stop'))
  checkout.write('package-lock.json', '{"other":1}')
  const killed = checkout.start('install.mjs')
  await until(() => checkout.begun().length === 2)
  killed.kill('SIGKILL')
  checkout.write('package-lock.json', '{}')
  checkout.write('go', '')
  expect((await checkout.start('install.mjs').ended).result).toBe(0)
  expect(checkout.begun()).toHaveLength(3)
})

test('a compiler that was killed builds everything again, even for the sources of the build before', async ({
  checkout,
}) => {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo', composite: true, types: [] }
  checkout.write('sdk/tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src'] }))
  checkout.write('sdk/src/a.ts', 'export const a = 1\n')
  checkout.write(
    'compile.mjs',
    `import { build, main } from './scripts/setup.mjs'\nawait main(() => build('Compiling', 'sdk'))`,
  )
  checkout.write('node_modules/.bin/tsc', `#!/bin/sh\nexec ${process.execPath} ${tsc} "$@"\n`)
  chmodSync(checkout.path('node_modules/.bin/tsc'), 0o755)
  expect((await checkout.start('compile.mjs').ended).result).toBe(0)

  // It is killed when it has written its results, but not yet the file that describes them.
  const info = checkout.read('sdk/dist/.tsbuildinfo')
  checkout.write('sdk/src/a.ts', 'export const a = 2\n')
  expect(spawnSync(process.execPath, [tsc, '-b', 'sdk'], { cwd: checkout.dir }).status).toBe(0)
  checkout.write('sdk/dist/.tsbuildinfo', info)
  const compiler = checkout.read('node_modules/.bin/tsc')
  checkout.write('node_modules/.bin/tsc', `#!/bin/sh\nexec ${process.execPath} program.mjs . out x\n`)
  const killed = checkout.start('compile.mjs')
  await until(() => checkout.begun().length === 1)
  killed.kill('SIGKILL')

  checkout.write('node_modules/.bin/tsc', compiler)
  checkout.write('sdk/src/a.ts', 'export const a = 1\n')
  expect((await checkout.start('compile.mjs').ended).result).toBe(0)
  expect(checkout.read('sdk/dist/a.js')).toContain('a = 1')
})
