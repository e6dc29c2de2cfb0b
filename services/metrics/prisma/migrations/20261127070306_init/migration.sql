CREATE TABLE "visits" (
    "visitor" TEXT NOT NULL,
    "visits" INTEGER NOT NULL,

    CONSTRAINT "visits_pkey" PRIMARY KEY ("visitor")
);
