import { untilChanged } from './polling.js'
import { data, go, localizeTimes, show } from './view.js'

const { jti = '' } = data

localizeTimes()
const change = await untilChanged(jti)
if (change === 'expired') show('expired')
else go(`/v0/authorize/continue?jti=${encodeURIComponent(jti)}`)
