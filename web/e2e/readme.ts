import { fileURLToPath } from 'node:url'
import { test } from '@playwright/test'
import { takeReadmePictures } from './readme-pictures.ts'

test('the pictures of the README', async ({ browser }, testInfo) => {
  const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
  await takeReadmePictures({ browser, folder, clockFile: testInfo.outputPath('clock') })
})
