/** For `node --import`: openapi-typescript prints through the classes of a compiler that TypeScript 7 no longer ships. */
import { register } from 'node:module'

const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
