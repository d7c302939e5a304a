/** Both screens in one chunk: the name of each chunk is part of what the list of issues loads. */
export { ConnectionScreen } from './connection-screen.tsx'
export { GitScreen } from './git-screen.tsx'
