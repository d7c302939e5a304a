import type { Readable } from 'node:stream'

/**
 * Bytes by key: uploaded files, and data of imports and exports. A key is one or more parts of `[a-z0-9_-]` separated
 * by `/`, such as `files/fil_01…`. Values are written once and never changed.
 */
export interface Storage {
  /**
   * Durable once it resolves. A body of another length fails with `WrongLength`; storage that is full or unreachable
   * with `StorageUnavailable`. After a failure nothing can be read under the key.
   */
  put(key: string, body: Readable, bytes: number): Promise<{ sha256: Buffer }>
  /** `end` is the last byte. A missing key fails with `NoSuchKey`. */
  read(key: string, range?: { start: number; end: number }): Promise<Readable>
  /** Succeeds if there is nothing to remove. */
  remove(key: string): Promise<void>
  /** In no order, also those whose writing was not finished; `prefix` ends with `/`. */
  list(prefix: string): AsyncIterable<{ key: string; bytes: number; writtenAt: Date }>
}

/** Keys are also paths and parts of URLs, so nothing else may be in them. */
export function checkKey(key: string) {
  if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(key)) throw new Error(`not a key: ${key}`)
}

export class WrongLength extends Error {}
export class StorageUnavailable extends Error {}
export class NoSuchKey extends Error {}
