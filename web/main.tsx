import { render } from 'preact'
import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/shell.css'
import './style/rows.css'
import './parts/dialog.css'
import { App } from './shell/app.tsx'

const root = document.getElementById('app')
if (root) render(<App />, root)
