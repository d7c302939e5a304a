import type { Reporter, TestModule } from 'vitest/node'
import type { Times } from './times.ts'

const shown = 40

/** Prints the slowest files and what they spent their time on. */
export class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const files = modules
      .flatMap((module) => {
        const { times } = module.meta()
        return times ? [{ name: module.relativeModuleId, imports: module.diagnostic().collectDuration, ...times }] : []
      })
      .sort((a, b) => b.wall - a.wall)
    const sum = (of: (file: (typeof files)[number]) => number) => files.reduce((total, file) => total + of(file), 0)
    const total = {
      name: `all ${files.length} files`,
      imports: sum((file) => file.imports),
      wall: sum((file) => file.wall),
      cpu: sum((file) => file.cpu),
      starting: sum((file) => file.starting),
      processes: sum((file) => file.processes),
    }
    console.log(['', 'seconds:', ...titles.map((title) => title.padStart(width))].join(' '))
    for (const file of [...files.slice(0, shown), total]) console.log(lineOf(file))
  }
}

const titles = ['wall', 'cpu', 'starts', 'processes', 'waiting', 'imports']
const width = 9

function lineOf({ name, imports, wall, cpu, starting, processes }: Times & { name: string; imports: number }) {
  const waiting = Math.max(0, wall - cpu - processes)
  const figures = [wall, cpu, starting, processes, waiting, imports]
  return `         ${figures.map((ms) => (ms / 1000).toFixed(1).padStart(width)).join(' ')}  ${name}`
}
