/** All screens in one chunk: the name of each chunk is part of what the list of issues loads. */
export { ImportScreen } from './import-screen.tsx'
export { ImportsScreen } from './imports-screen.tsx'
export { PlaceholdersScreen } from './placeholders-screen.tsx'
