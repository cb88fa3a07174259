// Before anything is painted, so that a chosen theme does not flash the other one.
try {
  const theme = localStorage.getItem('waymark theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {}
