// The protocol's own words in the repository; the packed CLI contains a copy (see build.mjs).
export { scopeWords } from '@baton/protocol/scope-words'
