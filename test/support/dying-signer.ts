/** Services whose signer is watched or changed, and those of a process that ends once its provider has signed. */
import type { Signer } from '../../src/chain/signer/index.ts'
import type { Services } from '../../src/context.ts'
import type { Store } from '../../src/store/store.ts'

/** The services with another signer, made of the real one. */
export async function signingBy(
  services: Services,
  sign: (signer: Signer, message: Uint8Array) => Promise<Uint8Array>,
): Promise<Services> {
  const real = (await services.signer())!
  const signer: Signer = {
    provider: real.provider,
    address: real.address,
    sign: (message) => sign(real, message),
    check: () => real.check(),
  }
  return { ...services, signer: async () => signer }
}

/** `made` are the signatures of both, in hex: of the process that ends before it stores one, and of the next. */
export async function endingOnceSigned(services: Services) {
  const made: string[] = []
  let isKilled = false
  const keeping = async (signer: Signer, message: Uint8Array) => {
    const signature = await signer.sign(message)
    made.push(Buffer.from(signature).toString('hex'))
    return signature
  }
  const dying = await signingBy(services, async (signer, message) => {
    const signature = await keeping(signer, message)
    isKilled = true
    return signature
  })
  const write: Store['write'] = async (work) => {
    if (isKilled) throw new Error('the process has ended')
    return services.store.write(work)
  }
  const store = new Proxy(services.store, {
    get: (target, name) => (name === 'write' ? write : Reflect.get(target, name, target)),
  })
  return {
    made,
    isKilled: () => isKilled,
    dying: { ...dying, store },
    living: await signingBy(services, keeping),
  }
}
