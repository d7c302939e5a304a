import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { verifies } from './baton.ts'
import { takeReadmePictures } from './readme-pictures.ts'

const mostBytes = 300_000

test(
  'the pictures of the README are small and the same twice',
  verifies('demo.pictures'),
  async ({ browser }, testInfo) => {
    test.setTimeout(300_000)
    const taken = []
    for (const time of ['first', 'second']) {
      const folder = testInfo.outputPath(time)
      mkdirSync(folder, { recursive: true })
      const files = await takeReadmePictures({ browser, folder, clockFile: testInfo.outputPath('clock') })
      taken.push(new Map(files.map((file) => [file, readFileSync(join(folder, file))])))
    }
    const [first, second] = taken as [Map<string, Buffer>, Map<string, Buffer>]

    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const shown = [...readme.matchAll(/docs\/pictures\/([\w-]+\.png)/g)].map(([, file]) => file)
    expect([...first.keys()].sort()).toEqual(shown.sort())
    for (const [file, picture] of first) {
      expect(picture.length, `bytes of ${file}`).toBeLessThan(mostBytes)
      expect(second.get(file)?.equals(picture), `${file} is the same twice`).toBe(true)
    }
  },
)
