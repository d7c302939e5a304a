// npm run bench: measures every row and its floor in one run. Arguments: names of files in rows/ and of databases, to
// run only these; --record, to write the results into docs/.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { build, bundleServer, install, main, StepFailed } from '../scripts/setup.mjs'
import { record } from './record.mjs'

const databases = ['postgres', 'embedded']
/** Targets apply to PostgreSQL only; the embedded database is shown for comparison. */
const rounds = { postgres: 3, embedded: 1 }
const args = process.argv.slice(2)
const rowFiles = readdirSync(new URL('rows', import.meta.url)).map((name) => name.replace('.mjs', ''))
const chosen = (names) => (names.some((name) => args.includes(name)) ? names.filter((n) => args.includes(n)) : names)

await main(async () => {
  const unknown = args.filter((name) => ![...databases, ...rowFiles, '--record'].includes(name))
  if (unknown.length > 0) throw new StepFailed(`Unknown row: ${unknown.join(', ')}. Rows: ${rowFiles.join(', ')}`)
  await install()
  await build('Building', 'server')
  await bundleServer()
  const measured = []
  for (const file of chosen(rowFiles)) {
    const row = await import(`./rows/${file}.mjs`)
    const missing = await row.missing?.()
    if (missing) console.log(`▸ ${file} is skipped: ${missing}`)
    else for (const database of chosen(databases)) measured.push(...(await bestOf(row, database)))
  }
  console.table(
    measured.map(({ name, database, ours, floor, unit, ratio, target, met }) => ({
      row: `${name} (${database})`,
      ours: shown(ours),
      floor: shown(floor),
      unit,
      ratio,
      target: target ?? '',
      met: met === undefined ? '' : met ? 'yes' : 'NO',
    })),
  )
  const machine = { processor: cpus()[0]?.model, cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30) }
  const figures = { node: process.version, machine, measured }
  const cache = new URL('../node_modules/.cache/', import.meta.url)
  mkdirSync(cache, { recursive: true })
  writeFileSync(new URL('bench.json', cache), `${JSON.stringify(figures, null, 2)}\n`)
  if (args.includes('--record')) record(figures)
  const missed = measured.filter(({ met }) => met === false)
  if (missed.length > 0) throw new StepFailed(`missed: ${missed.map(({ name }) => name).join('; ')}`)
})

/** The machine is noisy, so the best round of each row counts, with ours and floor of the same round. */
async function bestOf({ rows, run, ownDatabase, once }, database) {
  const { withDatabase, withStorage } = await import('./setting.mjs')
  const best = []
  for (let round = 1; round <= (once ? 1 : rounds[database]); round++) {
    const results = await (ownDatabase ? withStorage : withDatabase)(database, run)
    for (const [index, { ours, floor }] of results.entries()) {
      const { name, unit, better } = rows[index]
      const ratio = ours / floor
      console.log(
        `  ${name}, ${database}, round ${round}: ${shown(ours)} ${unit}, floor ${shown(floor)}: ${ratio.toFixed(2)}`,
      )
      const before = best[index]
      if (!before || (better === 'more' ? ratio > before.ratio : ratio < before.ratio)) {
        best[index] = { ours, floor, ratio }
      }
    }
  }
  return best.map((one, index) => {
    const { name, unit, better, target, floorIs } = rows[index]
    const ratio = Number(one.ratio.toFixed(2))
    const counts = target !== undefined && database === 'postgres'
    const met = counts ? (better === 'more' ? ratio >= target : ratio <= target) : undefined
    return { name, database, unit, better, floorIs, ...one, ratio, target, met }
  })
}

function shown(value) {
  return value >= 100 ? Math.round(value) : Number(value.toFixed(2))
}
