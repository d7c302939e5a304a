// It comes without types, and its own package of them is not worth a dependency here.
declare module 'express'
