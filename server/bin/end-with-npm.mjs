// In the package, a copy of that file (scripts/packages.mjs).
export { endWithNpm } from '../../scripts/end-with-npm.mjs'
