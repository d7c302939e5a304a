import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { verifies } from './baton.ts'
import { takeReadmePictures } from './readme-pictures.ts'

const mostBytes = 300_000
/** Of 255: the browser does not draw every corner in the same shade twice. */
const sameShade = 32

/** How many values of red, green, blue and alpha differ in two pictures; Infinity if their sizes do. */
const differences = (page: Page, ...pictures: [Buffer, Buffer]) =>
  page.evaluate(
    async ({ sources, sameShade }) => {
      const [one, two] = await Promise.all(
        sources.map(async (source) => {
          const image = new Image()
          image.src = source
          await image.decode()
          const canvas = new OffscreenCanvas(image.width, image.height)
          const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
          context.drawImage(image, 0, 0)
          return context.getImageData(0, 0, image.width, image.height)
        }),
      )
      if (!one || !two || one.width !== two.width || one.height !== two.height) return Number.POSITIVE_INFINITY
      return one.data.reduce((count, value, at) => {
        const other = two.data[at] ?? Number.NaN
        return count + (Math.abs(value - other) <= sameShade ? 0 : 1)
      }, 0)
    },
    { sources: pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`), sameShade },
  )

test(
  'the pictures of the README are small and the same twice',
  verifies('demo.pictures'),
  async ({ browser, page }, testInfo) => {
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
      const again = second.get(file) as Buffer
      expect(await differences(page, picture, again), `${file} is the same twice`).toBe(0)
    }
  },
)
