/** Opens a store and a vault in a process of its own, writes one token and prints the vault's fingerprint. */

import { openVault } from '../../src/store/installation/vault.ts'
import { openStore } from '../../src/store/open.ts'
import { insertToken } from '../../src/store/resources/tokens.ts'
import { token } from './rows.ts'

const { mint, keyText, ...options } = JSON.parse(process.argv[2]!)
const store = await openStore(options)
const vault = await openVault({ store, dataDir: options.dataDir, keyText })
await store.write((tx) => insertToken(tx, token(mint)))
await store.close()
process.stdout.write(vault.fingerprint)
