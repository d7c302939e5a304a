// npm run bench: measures every row and its floor in one run. Arguments: names of files in rows/ and of databases, to
// run only these; --record, to write the results into docs/.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { missingOf } from '../scripts/requirements.mjs'
import { build, bundleServer, install, main, StepFailed } from '../scripts/setup.mjs'
import { record } from './record.mjs'
import { metEverywhere, targetOf } from './targets.mjs'

const databases = ['postgres', 'embedded']
const rounds = 3
const args = process.argv.slice(2)
const rowFiles = readdirSync(new URL('rows', import.meta.url)).map((name) => name.replace('.mjs', ''))
const about = {
  node: process.version,
  machine: { processor: cpus()[0]?.model, cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30) },
}
const chosen = (names) => (names.some((name) => args.includes(name)) ? names.filter((n) => args.includes(n)) : names)

await main(async () => {
  const unknown = args.filter((name) => ![...databases, ...rowFiles, '--record'].includes(name))
  if (unknown.length > 0) throw new StepFailed(`Unknown row: ${unknown.join(', ')}. Rows: ${rowFiles.join(', ')}`)
  await install()
  await build('Building', 'server', 'cli')
  await bundleServer()
  const measured = []
  const failed = []
  const notShown = []
  for (const file of chosen(rowFiles)) {
    const row = await import(`./rows/${file}.mjs`)
    const missing = await row.missing?.()
    if (missing) console.log(`▸ ${file} is skipped: ${missing}`)
    const measurable = missing ? [] : (row.databases ?? databases)
    const ofFile = []
    for (const database of chosen(databases).filter((one) => measurable.includes(one))) {
      try {
        const results = await measureRounds(row, database)
        measured.push(...results)
        ofFile.push(...results)
        // At once: a whole run takes most of an hour, and what it measured should outlast a row that fails.
        if (args.includes('--record')) record({ ...about, measured: results })
      } catch (error) {
        failed.push(`${file} (${database})`)
        console.error(error)
      }
    }
    // A run on some databases only measures; it does not have to show anything.
    if (chosen(databases).length < databases.length) continue
    const ids = metEverywhere(row.rows, ofFile, databases) ? row.shows : []
    notShown.push(...missingOf(`npm run bench -- ${file}`, new Set(ids)))
  }
  console.table(
    measured.map(({ name, database, ours, floor, unit, ratio, worst, target, met }) => ({
      row: `${name} (${database})`,
      ours: shown(ours),
      floor: shown(floor),
      unit,
      best: ratio ?? '',
      worst: worst ?? '',
      target: target ?? '',
      met: met === undefined ? '' : met ? 'yes' : 'NO',
    })),
  )
  const figures = { ...about, measured }
  const cache = new URL('../node_modules/.cache/', import.meta.url)
  mkdirSync(cache, { recursive: true })
  writeFileSync(new URL('bench.json', cache), `${JSON.stringify(figures, null, 2)}\n`)
  const missed = measured.filter(({ met }) => met === false).map(({ name, database }) => `${name} (${database})`)
  const problems = [
    failed.length > 0 && `not measured: ${failed.join('; ')}`,
    missed.length > 0 && `missed: ${missed.join('; ')}`,
    notShown.length > 0 && `not shown: ${notShown.join(', ')}`,
  ].filter(Boolean)
  if (problems.length > 0) throw new StepFailed(problems.join('\n'))
})

/**
 * Shows the best round of each row, with ours and floor of the same round, because the machine is noisy. Its target has
 * to be met in every round, so the worst round decides. The target of a row that is `absolute` is in its unit, that of
 * the others a ratio to the floor.
 */
async function measureRounds({ rows, run, ownDatabase, once }, database) {
  const { withDatabase, withStorage } = await import('./setting.mjs')
  // Rows on the embedded database are slow, and without a target they are only shown for comparison.
  const times = once || (database === 'embedded' && !rows.some((row) => targetOf(row, database))) ? 1 : rounds
  const measured = rows.map(() => [])
  for (let round = 1; round <= times; round++) {
    const results = await (ownDatabase ? withStorage : withDatabase)(database, run)
    for (const [index, result] of results.entries()) {
      // The row is not measured on this database.
      if (!result) continue
      const { ours, floor } = result
      const { name, unit, absolute } = rows[index]
      const score = absolute ? ours : ours / floor
      measured[index].push({ ours, floor, score })
      const ratio = absolute ? '' : `: ${score.toFixed(2)}`
      console.log(`  ${name}, ${database}, round ${round}: ${shown(ours)} ${unit}, floor ${shown(floor)}${ratio}`)
    }
  }
  return rows.flatMap((row, index) => {
    const { name, unit, better, floorIs, absolute } = row
    const fromBest = measured[index].sort((a, b) => (better === 'more' ? b.score - a.score : a.score - b.score))
    if (fromBest.length === 0) return []
    const { ours, floor } = fromBest[0]
    const [best, worst] = [fromBest[0], fromBest.at(-1)].map(({ score }) => Number(score.toFixed(2)))
    const target = targetOf(row, database)
    const met = target === undefined ? undefined : better === 'more' ? worst >= target : worst <= target
    const scores = absolute ? {} : { ratio: best, worst }
    return [{ name, database, unit, better, floorIs, ours, floor, ...scores, target, met }]
  })
}

function shown(value) {
  return value >= 100 ? Math.round(value) : Number(value.toFixed(2))
}
