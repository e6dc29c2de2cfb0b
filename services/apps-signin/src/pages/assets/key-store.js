/**
 * The keys of this browser. The private ones cannot be read, not even by a script of this page: they can only be used.
 * @typedef {object} StoredKey
 * @property {string} api_key_id
 * @property {string} inbox_id
 * @property {CryptoKeyPair} key_pair
 * @property {string} app_name
 * @property {number} created_at
 * @property {number} expires_at
 */

const DATABASE = 'restante-sign-in'
const STORE = 'keys'

/** @returns {boolean} */
export function isSupported() {
  return globalThis.isSecureContext && globalThis.crypto?.subtle !== undefined && globalThis.indexedDB !== undefined
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'api_key_id' })
  return settled(request)
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/**
 * Resolves when the change is on disk, as far as the browser knows.
 * @param {(store: IDBObjectStore) => void} change
 */
async function write(change) {
  const database = await open()
  try {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
    change(transaction.objectStore(STORE))
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = () => reject(transaction.error)
    })
  } finally {
    database.close()
  }
}

/** @param {StoredKey} key */
export function keep(key) {
  return write((store) => store.put(key))
}

/** Deletes it here only. @param {string} apiKeyId */
export function forget(apiKeyId) {
  return write((store) => store.delete(apiKeyId))
}

/** The live keys, the newest first. Those that have expired are deleted. @returns {Promise<StoredKey[]>} */
export async function liveKeys() {
  const database = await open()
  /** @type {StoredKey[]} */
  const keys = await settled(database.transaction(STORE).objectStore(STORE).getAll()).finally(() => database.close())
  const now = Date.now()
  for (const { api_key_id } of keys.filter(({ expires_at }) => expires_at <= now)) await forget(api_key_id)
  return keys.filter(({ expires_at }) => expires_at > now).sort((a, b) => b.created_at - a.created_at)
}

/**
 * The newest live key of each inbox that may sign in.
 * @param {string} loginHint empty: any inbox.
 */
export async function keysFor(loginHint) {
  const wanted = loginHint.toLowerCase()
  /** @type {Map<string, StoredKey>} */
  const byInbox = new Map()
  for (const key of await liveKeys()) {
    const inbox = key.inbox_id.toLowerCase()
    if ((wanted === '' || inbox === wanted) && !byInbox.has(inbox)) byInbox.set(inbox, key)
  }
  return [...byInbox.values()]
}
