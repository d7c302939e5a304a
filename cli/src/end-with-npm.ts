// The package contains a copy (build.mjs).
export { endWithNpm } from '../../scripts/end-with-npm.mjs'
