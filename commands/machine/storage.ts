/** Opens the places of images and metadata for `svc storage` and `svc doctor` directly, even while a daemon runs. */
import { systemClock } from '../../src/context.ts'
import type { Config } from '../../src/settings/config.ts'
import { storeOptions } from '../../src/store/open.ts'
import type { StorageCopies } from '../cli/session.ts'
import { completeRestore } from './database/interrupted-restore.ts'

export function createStorageCopies(load: () => Promise<Config>): StorageCopies {
  return {
    async copy(onProgress) {
      const config = await completeRestore(await load())
      const [{ assetBackends }, { copyAssetsInto }, { assetTable }, { openStore }] = await Promise.all([
        import('../../src/storage/storage.ts'),
        import('../../src/storage/copy-assets.ts'),
        import('../../src/store/resources/assets.ts'),
        import('../../src/store/open.ts'),
      ])
      const store = await openStore(storeOptions(config))
      try {
        const [own, ...others] = assetBackends(config, assetTable(store, systemClock))
        const sources = others.map(({ backend }) => backend)
        const copied = await copyAssetsInto(own.backend, sources, onProgress)
        return { to: own.place, from: others.map(({ place }) => place), ...copied }
      } finally {
        await store.close()
      }
    },
  }
}
