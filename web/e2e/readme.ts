import { fileURLToPath } from 'node:url'
import { test } from '@playwright/test'
import { takeReadmePictures } from './readme-pictures.ts'

test('the pictures of the README', async ({ browser }) => {
  await takeReadmePictures(browser, fileURLToPath(new URL('../../docs/pictures/', import.meta.url)))
})
